package shop;

import java.util.Map;
import java.util.regex.Pattern;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
public class Shop {
    private static final Pattern BLANKS_AT_THE_END = Pattern.compile("\\s+$");
    private final DatabaseClient db;
    private final TransactionalOperator transaction;
    private final Remote remote;
    private final String[] texts = new String[200];

    Shop(DatabaseClient db, TransactionalOperator transaction, Remote remote) {
        this.db = db;
        this.transaction = transaction;
        this.remote = remote;
        // Texts come from a supplier's list with columns of fixed width; some have an empty column in the middle.
        for (int i = 0; i < texts.length; i++) {
            texts[i] = "Product " + i + (i % 20 == 7 ? " ".repeat(7_000) : " ") + "made of beech, oiled   ";
        }
    }

    @GetMapping("/orders/{id}")
    public Mono<Map<String, Object>> order(@PathVariable("id") int id) {
        return db.sql("select id, status, total_cents from orders where id = :id").bind("id", id).fetch().one();
    }

    @GetMapping("/texts/{id}")
    public Map<String, Object> text(@PathVariable("id") int id) {
        String text = texts[id];
        String trimmed = Main.fault("regex-on-loop") ? BLANKS_AT_THE_END.matcher(text).replaceAll("") : text.stripTrailing();
        return Map.of("id", id, "text", trimmed.substring(0, 10), "length", trimmed.length());
    }

    @GetMapping("/stock/{id}")
    public Mono<Map<String, Object>> stock(@PathVariable("id") int id) {
        return remote.stock(id).map(answer -> Map.of("id", id, "stock", answer));
    }

    @PostMapping("/sales/{id}")
    public Mono<Map<String, Object>> sell(@PathVariable("id") int product) {
        Mono<String> sold = Main.fault("held-connection")
            ? stored(product).then(remote.pay(product)).flatMap(receipt -> booked(product, receipt)).as(transaction::transactional)
            : remote.pay(product).flatMap(receipt -> stored(product).then(booked(product, receipt)).as(transaction::transactional));
        return sold.map(receipt -> Map.of("product", product, "receipt", receipt));
    }

    /** One is taken from the stock. */
    private Mono<Long> stored(int product) {
        return db.sql("update products set stock = stock - 1 where id = :id").bind("id", product).fetch().rowsUpdated();
    }

    private Mono<String> booked(int product, String receipt) {
        return db.sql("insert into payments (product_id, amount_cents, receipt) values (:id, 100, :receipt)")
            .bind("id", product).bind("receipt", receipt).fetch().rowsUpdated().thenReturn(receipt);
    }
}
