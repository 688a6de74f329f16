package pharmacy;

import java.util.List;
import java.util.Map;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Counter {
    record Line(int prescription, String medicine, long cents) {}

    private final PrescriptionRepository prescriptions;
    private final StringRedisTemplate redis;
    private final Reservations reservations;
    private final Shares shares;
    private final Leaflets leaflets;
    private final Rounds rounds;

    Counter(PrescriptionRepository prescriptions, StringRedisTemplate redis, Reservations reservations, Shares shares, Leaflets leaflets, Rounds rounds) {
        this.prescriptions = prescriptions;
        this.redis = redis;
        this.reservations = reservations;
        this.shares = shares;
        this.leaflets = leaflets;
        this.rounds = rounds;
    }

    @GetMapping("/prescriptions/{id}")
    public Map<String, Object> prescription(@PathVariable("id") int id) {
        Prescription found = prescriptions.findById(id % 300_000).orElseThrow();
        return Map.of("id", found.getId(), "cents", found.getCents(), "status", found.getStatus());
    }

    @GetMapping("/patients/{id}/prescriptions")
    public List<Line> latest(@PathVariable("id") int id) {
        return prescriptions.latestOf(id % 1500, PageRequest.of(0, 25)).stream().map(one -> new Line(one.getId(), one.getMedicine().getName(), one.getCents())).toList();
    }

    /** How many people have drawn a number today. */
    @PostMapping("/queues/{id}/number")
    public Map<String, Object> number(@PathVariable("id") int id) {
        return Map.of("queue", id % 40, "number", redis.opsForValue().increment("queue:" + id % 40));
    }

    @PostMapping("/medicines/{id}/reservation")
    public Map<String, Object> reserve(@PathVariable("id") int id) throws InterruptedException {
        return Map.of("medicine", id % 2000, "receipt", reservations.reserve(id % 2000));
    }

    @GetMapping("/patients/{id}/share")
    public Map<?, ?> share(@PathVariable("id") int id) {
        return shares.of(id % 1500);
    }

    @GetMapping("/medicines/{id}/leaflet")
    public Map<String, Object> leaflet(@PathVariable("id") int id) {
        return leaflets.leaflet(id % 2000);
    }

    /** A van waits up to three seconds for its next round. */
    @GetMapping("/vans/{id}/round")
    public Map<String, Object> round(@PathVariable("id") int id) throws InterruptedException {
        return Map.of("van", id, "round", rounds.next());
    }

    @GetMapping("/admin/turnover")
    public Map<String, Object> turnover() {
        return Map.of("cents", prescriptions.turnover());
    }

    @GetMapping("/health")
    public String health() {
        return "ok";
    }
}
