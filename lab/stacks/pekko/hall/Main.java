package hall;

import static org.apache.pekko.http.javadsl.server.PathMatchers.integerSegment;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.dispatch.MessageDispatcher;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.routing.RoundRobinPool;

/** A concert hall on Pekko HTTP: tickets in PostgreSQL, seats by actors, who ask the box office over HTTP. */
public class Main extends AllDirectives {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private final Tickets tickets;
    private final ActorRef seats;
    private final MessageDispatcher forQueries;

    private Main(ActorSystem system, Tickets tickets) {
        this.tickets = tickets;
        BoxOffice office = new BoxOffice(System.getenv("ADDR_OFFICE"));
        this.seats = fault("one-actor")
            ? system.actorOf(Seats.props(office).withDispatcher("blocking"), "seats")
            : system.actorOf(new RoundRobinPool(16).props(Seats.props(office)).withDispatcher("blocking"), "seats");
        // Queries block a thread each. The dispatcher that also serves connections has few of them.
        this.forQueries = system.dispatchers().lookup(fault("shared-dispatcher") ? "pekko.actor.default-dispatcher" : "blocking");
    }

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        settings.setUsername("shop");
        settings.setMaximumPoolSize(32);
        ActorSystem system = ActorSystem.create("hall");
        Main hall = new Main(system, new Tickets(new HikariDataSource(settings)));
        String[] at = System.getenv("ADDR").split(":");
        Http.get(system).newServerAt(at[0], Integer.parseInt(at[1])).bind(hall.routes());
    }

    private Route routes() {
        return concat(
            path(segment("tickets").slash(integerSegment()), id -> get(() -> answer(query(() -> tickets.ticket(id))))),
            path(segment("visitors").slash(integerSegment()), id -> get(() -> answer(query(() -> tickets.spent(id))))),
            path(segment("seats").slash(integerSegment()), id -> post(() -> answer(Patterns.ask(seats, id, Duration.ofSeconds(20)).thenApply(String::valueOf)))),
            path(segment("programme").slash(integerSegment()), id -> get(() -> complete("{\"concert\":" + id + ",\"hall\":\"" + (id % 3 == 0 ? "great" : "small") + "\"}"))));
    }

    private CompletionStage<String> query(Supplier<String> work) {
        return CompletableFuture.supplyAsync(work, forQueries);
    }

    private Route answer(CompletionStage<String> text) {
        return onSuccess(text, this::complete);
    }
}
