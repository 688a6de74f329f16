package customs;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.dataformat.JsonLibrary;

/** What is known of parcels, and their labels, which the printers of the carrier make. */
public class Parcels extends RouteBuilder {
    private final AtomicLong printed = new AtomicLong();

    @Override
    public void configure() {
        String[] at = System.getenv("ADDR").split(":");
        restConfiguration().component("undertow").host(at[0]).port(at[1]);

        rest("/parcels").get("/{id}").to("direct:parcel");
        rest("/labels").post("/{id}").to("direct:label");
        rest("/arrivals").get("/{id}").to("direct:arrival");

        from("direct:parcel").routeId("parcel")
            .to("sql:select id, quantity, total_cents, status, reference from orders where id = cast(:#${header.id} as int)?dataSource=#db&outputType=SelectOne")
            .marshal().json(JsonLibrary.Jackson);

        // The printers take a label at a time; a label is queued until a consumer has it printed.
        from("direct:label").routeId("label")
            .to("seda:labels?waitForTaskToComplete=Always&timeout=20000");
        String consumers = Main.fault("one-consumer") ? "" : "?concurrentConsumers=16";
        from("seda:labels" + consumers).routeId("print")
            .removeHeaders("CamelHttp*")
            .setHeader("CamelHttpMethod", constant("GET"))
            .toD("http://" + System.getenv("ADDR_CARRIER") + "/label/${header.id}")
            .process(e -> printed.incrementAndGet());

        // A depot that waits for a parcel hears of it when it arrives.
        from("direct:arrival").routeId("arrival")
            .delay(simple("${random(800,4000)}"))
            .setBody(simple("{\"arrived\":${header.id}}"));

        // Each two seconds the labels of the day are counted for the screen in the hall.
        from("timer:hall?period=2000").routeId("hall")
            .to("sql:select status, count(*) as parcels from orders group by status?dataSource=#db")
            .process(e -> e.getMessage().setHeader("printed", printed.get()));
    }
}
