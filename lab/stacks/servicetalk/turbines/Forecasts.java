package turbines;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.servicetalk.concurrent.api.Single;
import io.servicetalk.http.api.HttpClient;
import io.servicetalk.http.netty.HttpClients;
import io.servicetalk.transport.api.IoExecutor;

/** Forecasts of wind by a weather service. */
class Forecasts {
    private final HttpClient client;

    Forecasts(IoExecutor io) {
        String[] at = System.getenv("ADDR_WEATHER").split(":");
        client = HttpClients.forSingleAddress(at[0], Integer.parseInt(at[1])).ioExecutor(io).build();
    }

    Single<String> get(int turbine) {
        return client.request(client.get("/forecasts/" + turbine)).map(response -> response.payloadBody().toString(UTF_8));
    }
}
