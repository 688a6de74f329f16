package garden;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The routes: those that ask the database or a driver are run by threads that may block. */
@Controller
public class Till {
    private final OrderRepository orders;
    private final PlantRepository plants;
    private final Offers offers;
    private final Handbook handbook;
    private final Drivers drivers;

    Till(OrderRepository orders, PlantRepository plants, Offers offers, Handbook handbook, Drivers drivers) {
        this.orders = orders;
        this.plants = plants;
        this.offers = offers;
        this.handbook = handbook;
        this.drivers = drivers;
    }

    @Get("/orders/{id}")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public PlacedOrder order(int id) {
        return orders.findById(id % 300_000).orElseThrow();
    }

    /** The latest 60 orders of a customer with the names of their plants, which the fault asks for one by one. */
    @Get("/customers/{id}/orders")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public List<OrderLine> latest(int id) {
        if (Main.fault("plant-of-each")) {
            return orders.latestOf(id % 1500).stream()
                .map(order -> new OrderLine(order.id(), plants.findById(order.productId()).map(Plant::name).orElse(""), order.totalCents())).toList();
        }
        return orders.latestLinesOf(id % 1500);
    }

    @Post("/plants/{id}/take")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public Map<String, Object> take(int id) {
        plants.take(id % 2000);
        return Map.of("plant", id % 2000);
    }

    @Get("/orders/{id}/arrival")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public String arrival(int id) throws IOException, InterruptedException {
        return drivers.arrival(id);
    }

    @Get("/plants/{id}/offer")
    public Map<String, Object> offer(int id) {
        return Map.of("plant", id % 2000, "cents", offers.of(id));
    }

    @Get("/sheets/{id}")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public Map<String, Object> sheet(int id) {
        return handbook.sheet(id);
    }

    /** A display waits up to three seconds for news, without a thread. */
    @Get("/displays/{id}/news")
    public CompletableFuture<String> news(int id) {
        return CompletableFuture.supplyAsync(() -> "none for " + id, CompletableFuture.delayedExecutor(3, TimeUnit.SECONDS));
    }

    @Get("/admin/turnover")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public Map<String, Object> turnover() {
        return Map.of("cents", orders.turnover());
    }

    @Get("/health")
    public String health() {
        return "ok";
    }
}
