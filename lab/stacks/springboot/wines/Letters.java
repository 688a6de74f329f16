package wines;

import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;

/** Letters to customers: requests do not wait for them. */
@Service
public class Letters {
    private static final Logger LOG = LoggerFactory.getLogger(Letters.class);
    private final Carrier carrier;
    private final AtomicLong sent = new AtomicLong();

    Letters(Carrier carrier) {
        this.carrier = carrier;
    }

    @Async
    public void send(int sale) {
        carrier.offer(sale);
        sent.incrementAndGet();
    }

    @Scheduled(fixedDelay = 2000)
    void report() {
        LOG.info("{} letters were sent", sent.get());
    }
}
