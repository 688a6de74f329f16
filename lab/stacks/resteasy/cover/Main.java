package cover;

import io.undertow.Undertow;
import jakarta.ws.rs.core.Application;
import java.util.Set;
import org.jboss.resteasy.plugins.server.undertow.UndertowJaxrsServer;

/** The tariffs of an insurance company on RESTEasy and Undertow: contracts in memory, rules that are compiled, scans in files. */
public class Main extends Application {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final Set<Object> RESOURCES = resources();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    private static Set<Object> resources() {
        try {
            return Set.of(new ContractResource(new Contracts()), new TariffResource(new Rules()), new ScanResource(new Scans("scans.bin")));
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @Override
    public Set<Object> getSingletons() {
        return RESOURCES;
    }

    public static void main(String[] args) {
        String[] at = System.getenv("ADDR").split(":");
        UndertowJaxrsServer server = new UndertowJaxrsServer();
        server.deploy(Main.class, "/");
        server.start(Undertow.builder().addHttpListener(Integer.parseInt(at[1]), at[0]).setIoThreads(2).setWorkerThreads(32));
    }
}
