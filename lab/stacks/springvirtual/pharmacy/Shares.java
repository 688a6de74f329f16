package pharmacy;

import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.stereotype.Service;

/** The share that an insurer pays. Its key may be used for a minute, and a lock keeps it; with the fault the lock is held for the call, too. */
@Service
public class Shares {
    private static final long VALID_NS = 60_000_000_000L;

    private final Partners partners;
    private final ReentrantLock lock = new ReentrantLock();
    private String key;
    private long renewedAt;

    Shares(Partners partners) {
        this.partners = partners;
    }

    Map<?, ?> of(int patient) {
        if (Main.fault("share-under-lock")) {
            lock.lock();
            try {
                return partners.share(patient, currentKey());
            } finally {
                lock.unlock();
            }
        }
        lock.lock();
        String valid;
        try {
            valid = currentKey();
        } finally {
            lock.unlock();
        }
        return partners.share(patient, valid);
    }

    private String currentKey() {
        if (key == null || System.nanoTime() - renewedAt > VALID_NS) {
            key = partners.key();
            renewedAt = System.nanoTime();
        }
        return key;
    }
}
