package turbines;

import io.servicetalk.concurrent.api.Single;
import io.servicetalk.http.api.HttpExecutionStrategies;
import io.servicetalk.http.api.HttpHeaderNames;
import io.servicetalk.http.api.HttpRequest;
import io.servicetalk.http.api.HttpResponse;
import io.servicetalk.http.api.HttpResponseFactory;
import io.servicetalk.http.api.HttpServiceContext;
import io.servicetalk.http.netty.HttpServers;
import io.servicetalk.transport.api.IoExecutor;
import io.servicetalk.transport.netty.NettyIoExecutors;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * The maintenance desk of a wind farm on ServiceTalk: turbines and their orders in MariaDB by R2DBC,
 * forecasts of a weather service over HTTP, orders printed by OpenPDF, readings of the day in memory.
 */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    private final Turbines turbines = new Turbines();
    private final Forecasts forecasts;
    private final Readings readings = new Readings();

    private Main(IoExecutor io) {
        forecasts = new Forecasts(io);
    }

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        String[] at = System.getenv("ADDR").split(":");
        IoExecutor io = NettyIoExecutors.createIoExecutor(2, "desk-io");
        Main desk = new Main(io);
        HttpServers.forAddress(new InetSocketAddress(at[0], Integer.parseInt(at[1])))
            .ioExecutor(io)
            .executionStrategy(HttpExecutionStrategies.offloadNone())
            .listenAndAwait(desk::handle)
            .awaitShutdown();
    }

    private Single<HttpResponse> handle(HttpServiceContext context, HttpRequest request, HttpResponseFactory responses) {
        String[] path = request.path().split("/");
        int id = path.length > 2 ? Integer.parseInt(path[2]) : 0;
        switch (path.length > 1 ? path[1] : "") {
            case "turbines":
                return turbines.find(id).map(found -> text(responses, "application/json", found));
            case "forecasts":
                return forecasts.get(id).map(found -> text(responses, "application/json", found));
            case "orders":
                return turbines.orders(id)
                    .flatMap(orders -> print(context, new WorkOrder(id, orders)))
                    .map(page -> bytes(responses, page));
            case "readings":
                return context.executionContext().executor().submit(() -> readings.hourlyMaxima(id))
                    .map(found -> text(responses, "application/json", found));
            default:
                return Single.succeeded(responses.notFound());
        }
    }

    /** Prints on a thread of the executor. With the fault the thread of the event loop does it, as the server offloads nothing. */
    private static Single<byte[]> print(HttpServiceContext context, WorkOrder order) {
        if (fault("pdf-on-loop")) {
            return Single.fromCallable(order::print);
        }
        return context.executionContext().executor().submit(order::print);
    }

    private static HttpResponse text(HttpResponseFactory responses, String type, String body) {
        HttpResponse response = bytes(responses, body.getBytes(StandardCharsets.UTF_8));
        response.setHeader(HttpHeaderNames.CONTENT_TYPE, type);
        return response;
    }

    private static HttpResponse bytes(HttpResponseFactory responses, byte[] body) {
        return responses.ok().payloadBody(io.servicetalk.buffer.netty.BufferAllocators.DEFAULT_ALLOCATOR.wrap(body));
    }
}
