package policies;

import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

/** The underwriters, who say what a risk costs. */
@FeignClient(name = "underwriters", url = "http://${ADDR_UNDERWRITERS}")
interface UnderwritersClient {
    @GetMapping("/premiums/{policy}")
    Premium premium(@PathVariable("policy") int policy);
}
