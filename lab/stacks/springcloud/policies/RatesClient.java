package policies;

import java.util.List;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The rates of currencies, one or many by one call. */
@FeignClient(name = "rates", url = "http://${ADDR_RATES}")
interface RatesClient {
    @GetMapping("/rate")
    Premium rate(@RequestParam("day") int day);

    @GetMapping("/rates")
    Premium rates(@RequestParam("days") List<Integer> days);
}
