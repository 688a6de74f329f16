package taxi;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;

/** The printer's library blocks for 55 ms, so that 20 worker threads call it: one after the other with the fault, in any order without it. */
class Printer {
    private final Vertx vertx;
    private final WorkerExecutor workers;

    Printer(Vertx vertx) {
        this.vertx = vertx;
        workers = vertx.createSharedWorkerExecutor("printer", 20);
    }

    Future<JsonObject> print(int ride) {
        Callable<JsonObject> receipt = () -> call(ride);
        if (Main.fault("prints-in-order")) {
            return vertx.executeBlocking(receipt);
        }
        return workers.executeBlocking(receipt, false);
    }

    private static JsonObject call(int ride) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create("http://" + System.getenv("ADDR_PRINTER") + "/receipts/" + ride).toURL().openConnection();
        connection.setReadTimeout(20_000);
        try (InputStream in = connection.getInputStream()) {
            return new JsonObject(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
