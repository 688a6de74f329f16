package laundry;

import java.util.List;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Counter {
    private final Bags bags;
    private final Prices prices;
    private final Drivers drivers;
    private final Numbers numbers;
    private final Reports reports;

    Counter(Bags bags, Prices prices, Drivers drivers, Numbers numbers, Reports reports) {
        this.bags = bags;
        this.prices = prices;
        this.drivers = drivers;
        this.numbers = numbers;
        this.reports = reports;
    }

    @GetMapping("/bags/{id}")
    public Bags.Bag bag(@PathVariable("id") int id) {
        return bags.find(id % 300_000);
    }

    @GetMapping("/customers/{id}/bags")
    public List<Bags.Bag> bags(@PathVariable("id") int id) {
        return bags.ofCustomer(id % 1500);
    }

    @GetMapping("/bags/{id}/price")
    public Map<String, Object> price(@PathVariable("id") int id) {
        return Map.of("bag", id, "cents", prices.of(id % 1000));
    }

    @GetMapping("/bags/{id}/pickup")
    public Map<String, Object> pickup(@PathVariable("id") int id) {
        return Map.of("bag", id, "cents", drivers.cheapest(id));
    }

    @PostMapping("/counters/{id}/number")
    public long number(@PathVariable("id") int id) {
        return numbers.next(id % 300);
    }

    @PostMapping("/reports/{id}")
    public String report(@PathVariable("id") int id) {
        return reports.write(id);
    }

    /** Answers when a machine is done, or after four seconds. */
    @GetMapping("/machines/{id}/done")
    public boolean done(@PathVariable("id") int id) throws InterruptedException {
        Thread.sleep(4000);
        return false;
    }

    @GetMapping("/health")
    public String health() {
        return "ok";
    }
}
