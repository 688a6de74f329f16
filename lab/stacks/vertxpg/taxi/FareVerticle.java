package taxi;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;

/** Answers on the event bus what a ride costs. */
public class FareVerticle extends VerticleBase {
    static final String ADDRESS = "fares";

    @Override
    public Future<?> start() {
        return vertx.eventBus().<Integer>consumer(ADDRESS, message -> {
            int ride = message.body();
            message.reply(new JsonObject().put("ride", ride).put("cents", 390 + ride % 70 * 210));
        }).completion();
    }
}
