package dealers;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.graphql.execution.BatchLoaderRegistry;
import org.springframework.graphql.data.method.annotation.ContextValue;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.stereotype.Controller;
import java.util.concurrent.CompletableFuture;
import org.dataloader.DataLoader;
import reactor.core.publisher.Flux;

/** Dealers, their orders and the products of these. */
@Controller
public class Orders {
    public record Dealer(int id, String name, String city) {}

    public record Order(int id, int productId, int quantity, int totalCents, String status) {}

    public record Product(int id, String sku, String name, int priceCents) {}

    private static final RowMapper<Dealer> DEALER = DataClassRowMapper.newInstance(Dealer.class);
    private static final RowMapper<Order> ORDER = DataClassRowMapper.newInstance(Order.class);
    private static final RowMapper<Product> PRODUCT = DataClassRowMapper.newInstance(Product.class);
    private final JdbcTemplate sql;

    public Orders(JdbcTemplate sql, BatchLoaderRegistry loaders) {
        this.sql = sql;
        loaders.forTypePair(Integer.class, Product.class).registerBatchLoader((ids, environment) -> Flux.fromIterable(products(ids)));
    }

    @QueryMapping
    Dealer me(@ContextValue(name = Schema.DEALER) int dealer) {
        return sql.queryForObject("select id, name, city from customers where id = ?", DEALER, dealer % 1500);
    }

    @QueryMapping
    Order latest(@ContextValue(name = Schema.DEALER) int dealer) {
        return sql.queryForObject("select id, product_id, quantity, total_cents, status from orders where id = ?", ORDER, dealer);
    }

    @SchemaMapping
    List<Order> orders(Dealer dealer) {
        return sql.query("select id, product_id, quantity, total_cents, status from orders where customer_id = ? order by id desc", ORDER, dealer.id());
    }

    /** The product of an order. The loader reads those of all orders of a request at once. */
    @SchemaMapping(typeName = "Order")
    CompletableFuture<Product> product(Order order, DataLoader<Integer, Product> loader) {
        if (Main.fault("product-each"))
            return CompletableFuture.completedFuture(sql.queryForObject("select id, sku, name, price_cents from products where id = ?", PRODUCT, order.productId()));
        return loader.load(order.productId());
    }

    /** Products in the order of the ids. */
    private List<Product> products(Collection<Integer> ids) {
        Map<Integer, Product> found = sql.query("select id, sku, name, price_cents from products where id = any(?)", PRODUCT, (Object) ids.toArray(Integer[]::new)).stream()
            .collect(Collectors.toMap(Product::id, Function.identity()));
        return ids.stream().map(found::get).toList();
    }
}
