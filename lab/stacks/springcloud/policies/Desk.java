package policies;

import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Desk {
    private static final int POLICIES = 300_000;
    private static final int CUSTOMERS = 1_500;

    private final Claims claims;
    private final Underwriters underwriters;
    private final ClinicsClient clinics;

    Desk(Claims claims, Underwriters underwriters, ClinicsClient clinics) {
        this.claims = claims;
        this.underwriters = underwriters;
        this.clinics = clinics;
    }

    @GetMapping("/health")
    Map<String, String> health() {
        return Map.of("status", "UP");
    }

    @GetMapping("/policies/{id}")
    Map<String, Object> policy(@PathVariable("id") int id) {
        return claims.policy(id % POLICIES);
    }

    @GetMapping("/policies/{id}/premium")
    Premium premium(@PathVariable("id") int id) {
        return underwriters.premium(id % POLICIES);
    }

    @GetMapping("/policies/{id}/cover")
    Premium cover(@PathVariable("id") int id) {
        return clinics.cover(id % POLICIES);
    }

    @GetMapping("/customers/{id}/claims/worth")
    Map<String, Object> worth(@PathVariable("id") int id) {
        return claims.worth(id % CUSTOMERS);
    }
}
