package pharmacy;

import java.time.Duration;
import java.util.UUID;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

/** Reserves a medicine at the wholesaler. All pharmacies of the chain agree by a lock in Redis who does so for a medicine, with the fault for all medicines. */
@Service
public class Reservations {
    private static final Duration EXPIRES = Duration.ofSeconds(10);
    private static final long POLL_MS = 40;

    private final StringRedisTemplate redis;
    private final MedicineRepository medicines;
    private final Partners partners;

    Reservations(StringRedisTemplate redis, MedicineRepository medicines, Partners partners) {
        this.redis = redis;
        this.medicines = medicines;
        this.partners = partners;
    }

    String reserve(int medicine) throws InterruptedException {
        String lock = Main.fault("lock-for-all") ? "lock:reservations" : "lock:reservations:" + medicine;
        String owner = UUID.randomUUID().toString();
        acquire(lock, owner);
        try {
            medicines.take(medicine);
            return String.valueOf(partners.order(medicine).get("receipt"));
        } finally {
            if (owner.equals(redis.opsForValue().get(lock))) {
                redis.delete(lock);
            }
        }
    }

    private void acquire(String lock, String owner) throws InterruptedException {
        while (!Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(lock, owner, EXPIRES))) {
            Thread.sleep(POLL_MS);
        }
    }
}
