package loans;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.jooby.Context;
import io.jooby.ExecutionMode;
import io.jooby.Jooby;
import io.jooby.MediaType;
import io.jooby.ReactiveSupport;
import io.jooby.ServerOptions;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;

/** The loans of a town library on Jooby and JDBI: copies in MariaDB, the gates of its branches over HTTP. */
public class Main extends Jooby {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final ObjectMapper JSON = new ObjectMapper();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        runApp(args, ExecutionMode.WORKER, Main::new);
    }

    public Main() {
        String[] at = System.getenv("ADDR").split(":");
        ServerOptions options = new ServerOptions();
        options.setHost(at[0]);
        options.setPort(Integer.parseInt(at[1]));
        options.setWorkerThreads(64);
        setServerOptions(options);
        use(ReactiveSupport.concurrent());
        Jdbi jdbi = Jdbi.create(pool());
        Loans loans = new Loans(jdbi);
        Catalogues catalogues = new Catalogues();

        get("/books/{id}", ctx -> send(ctx, jdbi.withHandle(handle ->
            handle.createQuery("select id, title, author, year from books where id = :id").bind("id", number(ctx, "id")).mapToMap().findOne().orElse(Map.of()))));
        post("/loans/{copy}", ctx -> send(ctx, loans.lend(String.format("LIB-%06d", number(ctx, "copy")), 1 + number(ctx, "copy") % 900)));
        get("/branches/{branch}/catalogue", ctx -> send(ctx, catalogues.firstPage(number(ctx, "branch"))));
        // Readers who wait for a book keep a request open until it is returned, or for five seconds.
        get("/returns/{id}", ctx -> new CompletableFuture<String>().completeOnTimeout("nothing returned", 5, TimeUnit.SECONDS));
    }

    private static int number(Context ctx, String name) {
        return ctx.path(name).intValue();
    }

    private static byte[] send(Context ctx, Object found) throws JsonProcessingException {
        ctx.setResponseType(MediaType.json);
        return JSON.writeValueAsBytes(found);
    }

    private static HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:mariadb://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(40);
        config.setMinimumIdle(40);
        return new HikariDataSource(config);
    }
}
