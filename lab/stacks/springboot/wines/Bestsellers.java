package wines;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.data.domain.PageRequest;
import org.springframework.stereotype.Service;

/** The wines that sell best, added up from all sales and kept for two seconds. */
@Service
public class Bestsellers {
    private final SaleRepository sales;

    Bestsellers(SaleRepository sales) {
        this.sales = sales;
    }

    /** One request adds up, and those that come meanwhile wait for it. */
    @Cacheable(cacheNames = "bestsellers", sync = true)
    public Map<Object, Object> addUpOnce() {
        return addUp();
    }

    @Cacheable("bestsellers")
    public Map<Object, Object> addUpEach() {
        return addUp();
    }

    private Map<Object, Object> addUp() {
        Map<Object, Object> found = new LinkedHashMap<>();
        for (Object[] line : sales.soldByWine(PageRequest.of(0, 20))) {
            found.put(line[0], line[1]);
        }
        return found;
    }
}
