package claims;

import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebService;
import java.util.concurrent.atomic.AtomicInteger;

/** What brokers ask for. */
@WebService(serviceName = "Claims", targetNamespace = "http://claims.example/")
public class ClaimsService {
    private final ClaimStore store;
    private final Forms forms = new Forms();
    private final AtomicInteger next = new AtomicInteger();

    public ClaimsService(ClaimStore store) {
        this.store = store;
    }

    /** The next claim of a broker's list. */
    @WebMethod
    public Claim next(@WebParam(name = "broker") String broker) throws Exception {
        return store.find(next.getAndAdd(7) % 100_000);
    }

    /** A claim for which money is set aside, if it is still open. */
    @WebMethod
    public String reserve(@WebParam(name = "broker") String broker) throws Exception {
        return store.reserve(next.getAndAdd(7) % 100_000);
    }

    /** The form of a claim, as the archive of the authority wants it: XML within the answer. */
    @WebMethod
    public String form(@WebParam(name = "broker") String broker) throws Exception {
        return forms.write(store.find(next.getAndAdd(7) % 100_000));
    }
}
