package grocer;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

@Controller("/orders/{id}")
public class OrderController {
    private final OrderRepository orders;

    OrderController(OrderRepository orders) {
        this.orders = orders;
    }

    @Get
    public Map<String, Object> find(int id) throws SQLException {
        return orders.find(id % 300_000);
    }

    /** Drivers wait up to five seconds for news of an order, without a thread. */
    @Get("/news")
    public CompletableFuture<String> news(int id) {
        return CompletableFuture.supplyAsync(() -> "none of " + id, CompletableFuture.delayedExecutor(5, TimeUnit.SECONDS));
    }
}
