package policies;

import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

/** The network of clinics abroad, which confirms that a traveller is covered there. */
@FeignClient(name = "clinics", url = "http://${ADDR_CLINICS}")
interface ClinicsClient {
    @GetMapping("/covers/{policy}")
    Premium cover(@PathVariable("policy") int policy);
}
