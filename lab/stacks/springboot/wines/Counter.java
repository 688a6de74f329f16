package wines;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.data.domain.PageRequest;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Counter {
    record Line(int sale, String wine, long cents) {}

    private final SaleRepository sales;
    private final WineRepository wines;
    private final Bestsellers bestsellers;
    private final Credit credit;
    private final Carrier carrier;
    private final Letters letters;
    private final Labels labels;

    Counter(SaleRepository sales, WineRepository wines, Bestsellers bestsellers, Credit credit, Carrier carrier, Letters letters, Labels labels) {
        this.sales = sales;
        this.wines = wines;
        this.bestsellers = bestsellers;
        this.credit = credit;
        this.carrier = carrier;
        this.letters = letters;
        this.labels = labels;
    }

    @GetMapping("/sales/{id}")
    public Map<String, Object> sale(@PathVariable("id") int id) {
        Optional<Sale> found = sales.findById(id % 300_000);
        return found.<Map<String, Object>>map(sale -> Map.of("id", id, "cents", sale.getCents(), "status", sale.getStatus())).orElse(Map.of());
    }

    @GetMapping("/customers/{id}/sales")
    public List<Line> latest(@PathVariable("id") int id) {
        return sales.latestOf(id % 1500, PageRequest.of(0, 25)).stream().map(sale -> new Line(sale.getId(), sale.getWine().getName(), sale.getCents())).toList();
    }

    @PostMapping("/customers/{id}/credit")
    public Map<String, Object> credit(@PathVariable("id") int id) {
        return Map.of("customer", id, "cents", credit.check(id % 1500));
    }

    @GetMapping("/bestsellers/{id}")
    public Map<Object, Object> bestsellers(@PathVariable("id") int id) {
        return Main.fault("all-add-up") ? bestsellers.addUpEach() : bestsellers.addUpOnce();
    }

    /** What the carrier asks for a sale, unless it came back. */
    @GetMapping("/sales/{id}/offer")
    public Map<?, ?> offer(@PathVariable("id") int id) {
        Sale sale = sales.findById(id % 300_000).orElseThrow();
        return sale.getStatus().equals("returned") ? Map.of() : carrier.offer(sale.getId());
    }

    @PostMapping("/sales/{id}/letter")
    public Map<String, Object> letter(@PathVariable("id") int id) {
        letters.send(id);
        return Map.of("sale", id);
    }

    @GetMapping(path = "/wines/{id}/label", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
    public byte[] label(@PathVariable("id") int id) {
        return labels.draw(wines.findById(id % 2000).orElseThrow());
    }

    @GetMapping("/health")
    public String health() {
        return "ok";
    }
}
