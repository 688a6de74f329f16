package cover;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;

@Path("tariffs/{region}/{age}")
public class TariffResource {
    private final Rules rules;

    TariffResource(Rules rules) {
        this.rules = rules;
    }

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Map<String, Object> quote(@PathParam("region") int region, @PathParam("age") int age) throws Exception {
        return Map.of("region", region, "cents", rules.of(region % 40).cents(18 + age % 60, age % 9));
    }
}
