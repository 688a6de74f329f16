package policies;

import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import org.springframework.stereotype.Service;

/** Asks the underwriters, with the fault again if they did not answer in time. */
@Service
class Underwriters {
    private final UnderwritersClient client;
    private final Retry retry = Retry.of("underwriters", RetryConfig.custom()
        .maxAttempts(Main.fault("tight-timeout") ? 3 : 1)
        .intervalFunction(IntervalFunction.of(20))
        .build());

    Underwriters(UnderwritersClient client) {
        this.client = client;
    }

    Premium premium(int policy) {
        return retry.executeSupplier(() -> client.premium(policy));
    }
}
