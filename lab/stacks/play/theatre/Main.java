package theatre;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.IntFunction;
import org.apache.pekko.actor.ActorSystem;
import org.slf4j.LoggerFactory;
import play.BuiltInComponents;
import play.Mode;
import play.libs.Json;
import play.libs.ws.WSClient;
import play.libs.ws.ahc.AhcWSClient;
import play.mvc.Results;
import play.routing.Router;
import play.routing.RoutingDsl;
import play.server.Server;

/** The box office of a group of theatres on Play: plays in MariaDB, halls, a printing service and the weather over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    /** The routes of the server, which Play asks for with each request. */
    private static final Map<BuiltInComponents, Router> ROUTERS = new ConcurrentHashMap<>();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws IOException {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        String[] at = System.getenv("ADDR").split(":");
        Path settings = Files.writeString(Path.of("application.conf"), """
            play.server.http.address = "%s"
            play.http.secret.key = "of a box office that has no sessions at all"
            theatre.blocking {
              executor = thread-pool-executor
              thread-pool-executor.fixed-pool-size = 64
              throughput = 1
            }
            """.formatted(at[0]));
        System.setProperty("config.file", settings.toAbsolutePath().toString());
        new Server.Builder().mode(Mode.PROD).http(Integer.parseInt(at[1])).build(components -> ROUTERS.computeIfAbsent(components, Main::route));
    }

    private static Router route(BuiltInComponents components) {
        ActorSystem system = components.actorSystem();
        Executor blocking = system.dispatchers().lookup("theatre.blocking");
        Programme programme = new Programme(pool());
        Plans plans = new Plans(new Halls(System.getenv("ADDR_HALLS")));
        Printer printer = new Printer(System.getenv("ADDR_PRINTER"));
        Executor printing = fault("print-on-default") ? system.dispatcher() : blocking;
        WSClient weather = AhcWSClient.create(
            play.api.libs.ws.ahc.AhcWSClientConfigFactory.forConfig(components.config(), Main.class.getClassLoader()), null, components.materializer());
        return RoutingDsl.fromComponents(components)
            .GET("/plays/:id").routingAsync(new ById(send(blocking, programme::play)))
            .GET("/seasons/:id").routingAsync(new ById(send(blocking, programme::season)))
            .GET("/halls/:id/plan").routingAsync(new ById(send(blocking, plans::plan)))
            .POST("/tickets/:id/print").routingAsync(new ById(send(printing, printer::print)))
            .GET("/weather/:id").routingAsync(new ById(id ->
                weather.url("http://" + System.getenv("ADDR_WEATHER") + "/days/" + id).get().thenApply(answer -> Results.ok(answer.asJson()))))
            .build();
    }

    /** Finds what a number stands for by a thread of an executor, and sends it as JSON. */
    private static ById.Action send(Executor executor, IntFunction<Object> find) {
        return id -> CompletableFuture.supplyAsync(() -> Results.ok(Json.toJson(find.apply(id))), executor);
    }

    private static HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop?useServerPrepStmts=true");
        config.setUsername("shop");
        config.setMaximumPoolSize(32);
        return new HikariDataSource(config);
    }
}
