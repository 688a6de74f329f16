package cover;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;

@Path("scans/{id}")
public class ScanResource {
    private final Scans scans;

    ScanResource(Scans scans) {
        this.scans = scans;
    }

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Map<String, Object> checksum(@PathParam("id") int id) throws Exception {
        return Map.of("scan", id, "checksum", scans.checksum(id));
    }
}
