package archive;

import com.google.gson.Gson;
import com.google.inject.AbstractModule;
import com.google.inject.Guice;
import com.google.inject.Injector;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import com.google.inject.Stage;
import com.google.inject.servlet.GuiceFilter;
import com.google.inject.servlet.GuiceServletContextListener;
import com.google.inject.servlet.ServletModule;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.DefaultServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The archive of a newspaper on Guice Servlet, Jetty and Lucene: articles in an index, licences of publishers over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final Gson JSON = new Gson();

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        Injector injector = Guice.createInjector(Stage.PRODUCTION, new Archive(), new Servlets());
        Server server = new Server(new QueuedThreadPool(64));
        ServerConnector connector = new ServerConnector(server);
        String[] at = System.getenv("ADDR").split(":");
        connector.setHost(at[0]);
        connector.setPort(Integer.parseInt(at[1]));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        context.addEventListener(new GuiceServletContextListener() {
            @Override
            protected Injector getInjector() {
                return injector;
            }
        });
        context.addFilter(GuiceFilter.class, "/*", EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(DefaultServlet.class, "/");
        server.setHandler(context);
        server.start();
        server.join();
    }

    static int number(HttpServletRequest request) {
        return Integer.parseInt(request.getPathInfo().substring(1));
    }

    static void send(HttpServletResponse response, Object found) throws IOException {
        response.setContentType("application/json");
        JSON.toJson(found, response.getWriter());
    }

    private static class Servlets extends ServletModule {
        @Override
        protected void configureServlets() {
            serve("/search/*").with(SearchServlet.class);
            serve("/endings/*").with(EndingsServlet.class);
            serve("/articles/*").with(ArticleServlet.class);
            serve("/licences/*").with(LicenceServlet.class);
        }
    }

    private static class Archive extends AbstractModule {
        @Provides
        @Singleton
        ArticleIndex index() throws IOException {
            ArticleIndex index = new ArticleIndex();
            index.fill();
            return index;
        }
    }
}
