package taxi;

import io.vertx.core.Vertx;

/** What a taxi office serves on Vert.x 5: rides in PostgreSQL by the reactive client, fares over the event bus, a printer, a map and a bank over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) {
        Vertx vertx = Vertx.vertx();
        vertx.deployVerticle(new FareVerticle()).compose(done -> vertx.deployVerticle(new OfficeVerticle())).onFailure(e -> {
            e.printStackTrace();
            System.exit(1);
        });
    }
}
