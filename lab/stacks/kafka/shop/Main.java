package shop;

import io.javalin.Javalin;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** Orders that are published, and quotes that are asked for and answered, over Kafka; HTTP in front by Javalin. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    /** The settings that all clients of Kafka have. */
    static Properties kafka() {
        Properties settings = new Properties();
        settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, System.getenv("ADDR_KAFKA"));
        return settings;
    }

    public static void main(String[] args) throws Exception {
        makeTopics();
        Orders orders = new Orders();
        Pricing pricing = new Pricing(System.getenv("ADDR_SUPPLIER"));
        Quotes quotes = new Quotes();
        pricing.start();
        quotes.start();

        Javalin app = Javalin.create(config -> config.showJavalinBanner = false);
        app.post("/orders/{id}", ctx -> {
            orders.publish(ctx.pathParam("id"));
            ctx.status(201).result("published\n");
        });
        app.get("/quotes/{id}", ctx -> ctx.result(quotes.ask(ctx.pathParam("id"))));
        app.get("/topics", ctx -> ctx.result(String.join("\n", List.of(Orders.TOPIC, Quotes.REQUESTS, Quotes.REPLIES))));
        String[] at = System.getenv("ADDR").split(":");
        app.start(at[0], Integer.parseInt(at[1]));
    }

    private static void makeTopics() throws InterruptedException, ExecutionException {
        try (Admin admin = Admin.create(kafka())) {
            admin.createTopics(List.of(
                new NewTopic(Orders.TOPIC, 4, (short) 1),
                new NewTopic(Quotes.REQUESTS, 4, (short) 1).configs(Map.of("retention.ms", "600000")),
                new NewTopic(Quotes.REPLIES, 1, (short) 1).configs(Map.of("retention.ms", "600000")))).all().get();
        }
    }
}
