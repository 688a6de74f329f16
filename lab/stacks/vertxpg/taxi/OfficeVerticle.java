package taxi;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** The routes. */
public class OfficeVerticle extends VerticleBase {
    private Rides rides;
    private Partners partners;
    private Printer printer;

    @Override
    public Future<?> start() {
        partners = new Partners(vertx);
        rides = new Rides(vertx, partners);
        printer = new Printer(vertx);
        rides.settleRegularly();

        Router router = Router.router(vertx);
        router.get("/rides/:id").handler(c -> answer(c, rides.find(id(c))));
        router.get("/customers/:id/rides").handler(c -> answer(c, rides.ofCustomer(id(c))));
        router.post("/cars/:id/assign").handler(c -> answer(c, rides.assign(id(c))));
        router.get("/rides/:id/fare").handler(c -> answer(c, vertx.eventBus().<JsonObject>request(FareVerticle.ADDRESS, id(c)).map(reply -> reply.body())));
        router.get("/rides/:id/route").handler(c -> answer(c, partners.route(id(c))));
        router.post("/rides/:id/receipt").handler(c -> answer(c, printer.print(id(c))));
        router.get("/cars/:id/calls").handler(this::waitForCall);
        router.get("/admin/months").handler(c -> answer(c, rides.months()));
        router.get("/health").handler(c -> c.response().end("ok"));
        String[] own = System.getenv("ADDR").split(":");
        return vertx.createHttpServer().requestHandler(router).listen(Integer.parseInt(own[1]), own[0]);
    }

    private static int id(RoutingContext c) {
        return Integer.parseInt(c.pathParam("id"));
    }

    private static void answer(RoutingContext c, Future<?> found) {
        found.onSuccess(value -> c.json(value)).onFailure(c::fail);
    }

    /** A car waits up to 2.5 s for its next call. */
    private void waitForCall(RoutingContext c) {
        vertx.setTimer(2500, timer -> c.json(new JsonObject().put("car", id(c)).put("calls", new JsonArray())));
    }
}
