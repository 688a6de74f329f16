package taxi;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;

/** The map, which takes 25 ms, and the bank, which takes 1.3 s for a settlement. */
class Partners {
    private final WebClient client;

    Partners(Vertx vertx) {
        client = WebClient.create(vertx, new WebClientOptions().setKeepAlive(true), new PoolOptions().setHttp1MaxSize(64));
    }

    Future<JsonObject> route(int ride) {
        return client.getAbs("http://" + System.getenv("ADDR_MAP") + "/routes/" + ride).send().map(HttpResponse::bodyAsJsonObject);
    }

    Future<Void> settle() {
        return client.getAbs("http://" + System.getenv("ADDR_BANK") + "/settlements").send().mapEmpty();
    }
}
