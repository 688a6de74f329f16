package huts;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Desk {
    private final Bookings bookings;
    private final Beds beds;
    private final Letters letters;
    private final Weather weather;

    Desk(Bookings bookings, Beds beds, Letters letters, Weather weather) {
        this.bookings = bookings;
        this.beds = beds;
        this.letters = letters;
        this.weather = weather;
    }

    @GetMapping("/bookings/{id}")
    public Bookings.Booking booking(@PathVariable("id") int id) {
        return bookings.find(id % 300_000);
    }

    @GetMapping("/members/{id}/bookings")
    public List<Bookings.Booking> ofMember(@PathVariable("id") int id) {
        return bookings.ofMember(id % 1500);
    }

    @GetMapping("/references/{id}")
    public Bookings.Booking byReference(@PathVariable("id") int id) {
        return bookings.byReference("ref-" + id % 300_000);
    }

    @PostMapping("/huts/{id}/beds")
    public Map<String, Object> takeBed(@PathVariable("id") int id) {
        return Map.of("hut", id % 120, "left", beds.take(id % 120));
    }

    /** Writes to the warden of a hut, and answers when the warden has the letter. */
    @PostMapping("/bookings/{id}/letter")
    public CompletableFuture<String> letter(@PathVariable("id") int id) {
        return letters.write(id);
    }

    @GetMapping("/huts/{id}/weather")
    public String weather(@PathVariable("id") int id) {
        return weather.at(id % 120);
    }

    /** Answers when a hut's radio calls, or after four seconds. */
    @GetMapping("/radios/{id}/call")
    public boolean call(@PathVariable("id") int id) throws InterruptedException {
        Thread.sleep(4000);
        return false;
    }

    @GetMapping("/admin/huts")
    public List<Map<String, Object>> best() {
        return bookings.bestHuts();
    }

    @GetMapping("/health")
    public String health() {
        return "ok";
    }
}
