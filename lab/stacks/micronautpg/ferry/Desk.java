package ferry;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** The routes, which run on the event loops. */
@Controller
public class Desk {
    private final Bookings bookings;
    private final Harbours harbours;
    private final Tickets tickets;

    Desk(Bookings bookings, Harbours harbours, Tickets tickets) {
        this.bookings = bookings;
        this.harbours = harbours;
        this.tickets = tickets;
    }

    @Get("/bookings/{id}")
    public CompletionStage<Map<String, Object>> booking(int id) {
        return bookings.find(id).toCompletionStage();
    }

    @Get("/customers/{id}/bookings")
    public CompletionStage<List<Map<String, Object>>> latest(int id) {
        return bookings.ofCustomer(id).toCompletionStage();
    }

    @Post("/passengers/{id}/board")
    public CompletionStage<Map<String, Object>> board(int id) {
        return bookings.board(id).toCompletionStage();
    }

    @Get("/bookings/{id}/berth")
    public CompletionStage<?> berth(int id) throws IOException, InterruptedException {
        return Main.fault("berth-now") ? CompletableFuture.completedFuture(harbours.berthNow(id)) : harbours.berth(id).toCompletionStage();
    }

    @Post("/bookings/{id}/ticket")
    public CompletionStage<String> ticket(int id) {
        return tickets.print(id);
    }

    @Get("/days/{id}/waves")
    public CompletionStage<Map<String, Object>> waves(int id) {
        return harbours.waves(id % 365).toCompletionStage();
    }

    /** A gate waits up to four seconds for a ferry, without a thread. */
    @Get("/gates/{id}/next")
    public CompletionStage<String> next(int id) {
        return CompletableFuture.supplyAsync(() -> "none at " + id, CompletableFuture.delayedExecutor(4, TimeUnit.SECONDS));
    }

    @Get("/admin/days")
    public CompletionStage<List<Map<String, Object>>> days() {
        return bookings.days().toCompletionStage();
    }

    @Get("/health")
    @Produces("text/plain")
    public String health() {
        return "ok";
    }
}
