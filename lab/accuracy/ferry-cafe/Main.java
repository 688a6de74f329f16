import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * The café on a ferry takes orders by embedded Tomcat. The purser was told to "limit the connections", and set
 * maxConnections to ten: tills that keep their connection alive keep everybody else outside until they have asked
 * twenty times.
 */
public class Main extends HttpServlet {
    private final Map<String, Integer> sold = new ConcurrentHashMap<>();

    @Override
    protected void doPost(HttpServletRequest order, HttpServletResponse bill) throws IOException {
        String dish = order.getParameter("dish");
        int n = sold.merge(dish == null ? "coffee" : dish, 1, Integer::sum);
        roast();
        bill.setContentType("application/json");
        bill.getWriter().printf("{\"dish\":\"%s\",\"number\":%d}%n", dish, n);
    }

    /** The machine needs its time, whoever asks. */
    private static void roast() {
        try {
            Thread.sleep(15);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String... args) throws LifecycleException {
        int colon = System.getenv("ADDR").lastIndexOf(':');
        Connector http = new Connector("HTTP/1.1");
        http.setProperty("address", System.getenv("ADDR").substring(0, colon));
        http.setPort(Integer.parseInt(System.getenv("ADDR").substring(colon + 1)));
        http.setProperty("maxConnections", "0".equals(System.getenv("FAULT")) ? "4000" : "10");
        http.setProperty("acceptCount", "300");
        http.setProperty("maxKeepAliveRequests", "20");

        Tomcat cafe = new Tomcat();
        cafe.setBaseDir(new File("cafe").getAbsolutePath());
        cafe.setConnector(http);
        Context galley = cafe.addContext("", null);
        Tomcat.addServlet(galley, "orders", new Main());
        galley.addServletMappingDecoded("/order", "orders");
        cafe.start();
        cafe.getServer().await();
    }
}
