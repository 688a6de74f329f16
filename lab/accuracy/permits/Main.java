import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Parking permits on an embedded Tomcat whose threads somebody has cut down to three to save memory. */
public class Main {
    public static void main(String[] args) throws Exception {
        String[] addr = System.getenv("ADDR").split(":");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("tomcat").getAbsolutePath());
        Connector connector = new Connector("HTTP/1.1");
        connector.setProperty("address", addr[0]);
        connector.setPort(Integer.parseInt(addr[1]));
        connector.setProperty("maxThreads", "0".equals(System.getenv("FAULT")) ? "60" : "3");
        connector.setProperty("minSpareThreads", "3");
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "permits", new PermitServlet());
        context.addServletMappingDecoded("/permits/*", "permits");
        tomcat.start();
        tomcat.getServer().await();
    }

    static class PermitServlet extends HttpServlet {
        private final ThreadLocal<Socket> registry = new ThreadLocal<>();

        @Override protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String owner = owner(request.getPathInfo());
            response.setContentType("text/plain");
            response.getWriter().println("permit of " + owner);
        }

        private String owner(String plate) throws IOException {
            Socket s = registry.get();
            if (s == null) {
                String[] at = System.getenv("ADDR_REGISTRY").split(":");
                registry.set(s = new Socket(at[0], Integer.parseInt(at[1])));
                s.setTcpNoDelay(true);
            }
            s.getOutputStream().write((plate + "\n").getBytes());
            return new BufferedReader(new InputStreamReader(s.getInputStream())).readLine();
        }
    }
}
