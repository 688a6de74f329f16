package shop;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class Shop {
    private static final Logger LOG = LoggerFactory.getLogger(Shop.class);
    private final JdbcTemplate jdbc;
    private final OrderRepository orders;
    private final Suppliers suppliers;
    private final Checkout checkout;
    private final Object prices = new Object();
    /** Price lists that stay in memory, about 40 MB of them. */
    private final Map<Integer, List<String>> lists = new ConcurrentHashMap<>();

    Shop(JdbcTemplate jdbc, OrderRepository orders, Suppliers suppliers, Checkout checkout) {
        this.jdbc = jdbc;
        this.orders = orders;
        this.suppliers = suppliers;
        this.checkout = checkout;
        for (int id = 0; id < 400; id++) {
            lists.put(id, priceList(id));
        }
    }

    private static List<String> priceList(int id) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            lines.add("list " + id + " item " + i + ": " + (i * 17 % 1000) + " cents, without what the post takes");
        }
        return lines;
    }

    /** A price list is made anew every time it is asked for, and kept in place of the one before. */
    @GetMapping("/lists/{id}")
    public Map<String, Object> list(@PathVariable("id") int id) {
        List<String> lines = priceList(id);
        lists.put(id, lines);
        return Map.of("list", id, "lines", lines.size());
    }

    @GetMapping("/orders/{id}")
    public Map<String, Object> order(@PathVariable("id") int id) {
        return jdbc.queryForMap("select id, customer_id, total_cents, status from orders where id = ?", id);
    }

    @GetMapping("/customers/{id}/turnover")
    public Map<String, Object> turnover(@PathVariable("id") int id) {
        return jdbc.queryForMap("select archived_turnover(?) as cents", id);
    }

    @GetMapping("/customers/{id}/orders")
    @Transactional(readOnly = true)
    public List<Map<String, Object>> ofCustomer(@PathVariable("id") int id) {
        List<PlacedOrder> found = Main.fault("n-plus-one") ? orders.ofCustomer(id) : orders.ofCustomerWithProducts(id);
        List<Map<String, Object>> lines = new ArrayList<>();
        for (PlacedOrder o : found) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("order", o.getId());
            line.put("product", o.getProduct().getName());
            line.put("cents", o.getTotalCents());
            lines.add(line);
        }
        return lines;
    }

    @GetMapping("/search")
    public List<Map<String, Object>> search(@RequestParam("q") String words) {
        if (Main.fault("slow-query")) {
            return jdbc.queryForList("select id, status from orders where note ilike ? limit 10", "%no such " + words + "%");
        }
        return jdbc.queryForList("select id, status from orders where reference = ?", "REF-" + words);
    }

    @PostMapping("/checkout/{id}")
    public Map<String, String> sell(@PathVariable("id") int product) {
        if (Main.fault("row-lock")) {
            return Map.of("receipt", checkout.sellInOneTransaction(product));
        }
        String receipt = suppliers.pay(product);
        checkout.book(product, receipt);
        return Map.of("receipt", receipt);
    }

    @GetMapping("/quotes/{id}")
    public Map<String, String> quote(@PathVariable("id") int product) {
        if (Main.fault("virtual-pinned")) {
            synchronized (prices) {
                return Map.of("quote", suppliers.quote(product));
            }
        }
        return Map.of("quote", suppliers.quote(product));
    }

    @GetMapping("/prices/{id}")
    public Map<String, Object> price(@PathVariable("id") int product) {
        if (Main.fault("hot-lock")) {
            synchronized (prices) {
                return Map.of("cents", discount(product));
            }
        }
        return Map.of("cents", discount(product));
    }

    /** The discount depends on what customers of the product have bought: a query of 20 ms. */
    private long discount(int product) {
        Long bought = jdbc.queryForObject("select archived_turnover(?)", Long.class, product % 1500);
        return bought == null ? 0 : bought % 1000 + vouchers(product);
    }

    /** The best of many combinations of vouchers. */
    private static long vouchers(int product) {
        CRC32 sum = new CRC32();
        byte[] vouchers = ("vouchers of " + product).getBytes(StandardCharsets.UTF_8);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 10_000; i++) {
            sum.update(vouchers);
            best = Math.min(best, sum.getValue());
        }
        return best;
    }

    @GetMapping("/audit/{id}")
    public Map<String, Object> audit(@PathVariable("id") int id) {
        Map<String, Object> order = order(id);
        for (int step = 0; step < 12; step++) {
            LOG.info("audit of order {} step {}: {} was read for the yearly audit by the accountant of the shop", id, step, order);
        }
        return order;
    }

    @PostMapping("/login/{name}")
    public Map<String, Object> login(@PathVariable("name") String name) throws GeneralSecurityException {
        PBEKeySpec spec = new PBEKeySpec(("secret of " + name).toCharArray(), "a salt for the shop".getBytes(StandardCharsets.UTF_8), 40_000, 256);
        byte[] hash = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
        return Map.of("name", name, "length", hash.length);
    }

    /** An invoice as a picture, drawn in one array of 12 MB. */
    @GetMapping("/invoices/{id}/picture")
    public Map<String, Object> picture(@PathVariable("id") int id) {
        byte[] picture = new byte[12_000_000];
        for (int i = 0; i < picture.length; i += 4096) {
            picture[i] = (byte) (id + i);
        }
        CRC32 sum = new CRC32();
        sum.update(picture);
        return Map.of("invoice", id, "sum", sum.getValue());
    }

    /** The lines of an invoice as text, made of many small objects. */
    @GetMapping("/invoices/{id}/lines")
    public Map<String, Object> lines(@PathVariable("id") int id) {
        Map<Integer, String> lines = new LinkedHashMap<>();
        for (int i = 0; i < 6_000; i++) {
            lines.put(i, "line " + i + " of invoice " + id + ": " + (i * 17 % 1000) + " cents");
        }
        long length = 0;
        for (String line : lines.values()) {
            length += line.length();
        }
        return Map.of("invoice", id, "length", length);
    }
}
