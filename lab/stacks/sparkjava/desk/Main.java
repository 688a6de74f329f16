package desk;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import spark.Spark;

/** The desk of a language school on Spark and Jedis: places and sessions in Redis, examiners over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static JedisPool pool;

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        String[] redis = System.getenv("ADDR_REDIS").split(":");
        // A pool has 8 connections if nothing else is said.
        pool = new JedisPool(new JedisPoolConfig(), redis[0], Integer.parseInt(redis[1]), 10_000);
        Sessions sessions = new Sessions(pool);
        fill(sessions);

        String[] at = System.getenv("ADDR").split(":");
        Spark.ipAddress(at[0]);
        Spark.port(Integer.parseInt(at[1]));
        Spark.threadPool(80, 16, 60_000);
        Spark.get("/places/:course", (request, response) -> place(request.params("course")));
        Spark.get("/grades/:pupil", (request, response) -> grade(request.params("pupil")));
        Spark.get("/me/:pupil", (request, response) -> sessions.greet(Integer.parseInt(request.params("pupil"))));
        Spark.awaitInitialization();
    }

    private static void fill(Sessions sessions) {
        try (Jedis jedis = pool.getResource()) {
            for (int course = 0; course < 2000; course++) {
                jedis.set("places:" + course, String.valueOf(course % 20));
            }
            for (int pupil = 0; pupil < 100; pupil++) {
                jedis.set("examiner:" + pupil, "examiner-" + pupil % 7);
                sessions.start(jedis, pupil);
            }
        }
    }

    private static String place(String course) {
        try (Jedis jedis = pool.getResource()) {
            return "{\"places\":" + jedis.get("places:" + course) + "}";
        }
    }

    /** A grade is known to the pupil's examiner. With the fault the connection is kept until he has answered. */
    private static String grade(String pupil) throws IOException, InterruptedException {
        if (fault("jedis-held")) {
            try (Jedis jedis = pool.getResource()) {
                return ask(jedis.get("examiner:" + pupil), pupil);
            }
        }
        String examiner;
        try (Jedis jedis = pool.getResource()) {
            examiner = jedis.get("examiner:" + pupil);
        }
        return ask(examiner, pupil);
    }

    private static String ask(String examiner, String pupil) throws IOException, InterruptedException {
        URI at = URI.create("http://" + System.getenv("ADDR_EXAMINERS") + "/" + examiner + "/grades/" + pupil);
        return CLIENT.send(HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString()).body();
    }
}
