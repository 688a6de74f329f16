package depot;

import io.lettuce.core.api.async.RedisAsyncCommands;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/** What is asked for of parcels. */
class Parcels {
    private final RedisAsyncCommands<String, String> redis;
    private final Customs customs;

    Parcels(RedisAsyncCommands<String, String> redis, Customs customs) {
        this.redis = redis;
        this.customs = customs;
    }

    String place(String parcel) throws ExecutionException, InterruptedException {
        return redis.hget("places", "parcel-" + parcel).get();
    }

    String duty(String parcel) throws IOException, InterruptedException {
        return customs.duty(parcel);
    }

    /** How many parcels a depot has. With the fault all parcels are read and counted here. */
    String count(String depot) throws ExecutionException, InterruptedException {
        if (!Main.fault("hgetall")) {
            return redis.get("count:" + depot).get();
        }
        String shelf = " " + depot;
        return String.valueOf(redis.hgetall("places").get().values().stream().filter(place -> place.endsWith(shelf)).count());
    }
}
