package cover;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.MediaType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

@Path("contracts/{id}")
public class ContractResource {
    private final Contracts contracts;

    ContractResource(Contracts contracts) {
        this.contracts = contracts;
    }

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Contracts.Contract find(@PathParam("id") int id) {
        return contracts.find(id);
    }

    /** Holders wait up to five seconds for news of their contract, without a thread. */
    @GET
    @Path("news")
    public void news(@PathParam("id") int id, @Suspended AsyncResponse response) {
        CompletableFuture.delayedExecutor(5, TimeUnit.SECONDS).execute(() -> response.resume("none of " + id));
    }
}
