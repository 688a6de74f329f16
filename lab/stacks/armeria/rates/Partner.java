package rates;

import com.linecorp.armeria.client.WebClient;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import java.time.Duration;

/** The partner who makes offers. A bulkhead keeps him from being asked too much at a time. */
class Partner {
    private final WebClient client;
    private final Bulkhead bulkhead = Bulkhead.of("partner", BulkheadConfig.custom()
        .maxConcurrentCalls(Main.fault("bulkhead") ? 2 : 25).maxWaitDuration(Duration.ofSeconds(10)).build());

    Partner(String address) {
        client = WebClient.builder("http://" + address).responseTimeout(Duration.ofSeconds(20)).build();
    }

    String offer(String parcel) {
        return bulkhead.executeSupplier(() -> client.get("/offers/" + parcel).aggregate().join().contentUtf8());
    }
}
