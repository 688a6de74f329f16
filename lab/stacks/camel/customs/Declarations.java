package customs;

import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.http.base.HttpOperationFailedException;

/** Declarations at the customs, whose service refuses one call in twelve, and takes it a moment later. */
public class Declarations extends RouteBuilder {
    @Override
    public void configure() {
        var again = onException(HttpOperationFailedException.class).maximumRedeliveries(4).logRetryAttempted(false);
        if (!Main.fault("redelivery"))
            again.redeliveryDelay(5);

        rest("/declarations").get("/{id}").to("direct:declaration");
        from("direct:declaration").routeId("declaration")
            .removeHeaders("CamelHttp*")
            .setHeader("CamelHttpMethod", constant("GET"))
            .toD("http://" + System.getenv("ADDR_CUSTOMS") + "/declaration/${header.id}?httpClientConfigurer=#once");
    }
}
