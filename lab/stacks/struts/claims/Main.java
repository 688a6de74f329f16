package claims;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.struts2.dispatcher.filter.StrutsPrepareAndExecuteFilter;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** The claims desk of a car insurer on Struts and an embedded Tomcat. */
public final class Main {
    static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    public static void main(String[] args) throws Exception {
        Path web = Files.createDirectories(Path.of("web").toAbsolutePath());
        unpack(web);
        Claims.connect();

        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Path.of("tomcat").toAbsolutePath().toString());
        String[] address = System.getenv("ADDR").split(":");
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setProperty("address", address[0]);
        connector.setPort(Integer.parseInt(address[1]));
        connector.setProperty("maxThreads", "12");
        connector.setProperty("minSpareThreads", "12");
        tomcat.setConnector(connector);

        Context context = tomcat.addContext("", web.toString());
        FilterDef struts = new FilterDef();
        struts.setFilterName("struts");
        struts.setFilter(new StrutsPrepareAndExecuteFilter());
        struts.addInitParameter("config", "struts-default.xml," + web.resolve("struts.xml"));
        context.addFilterDef(struts);
        FilterMap all = new FilterMap();
        all.setFilterName("struts");
        all.addURLPattern("/*");
        context.addFilterMap(all);
        Tomcat.addServlet(context, "default", "org.apache.catalina.servlets.DefaultServlet");
        context.addServletMappingDecoded("/", "default");

        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        tomcat.start();
        tomcat.getServer().await();
    }

    /** Writes the configuration and the pages, as a server does with an archive. */
    private static void unpack(Path web) throws IOException {
        Files.writeString(web.resolve("struts.xml"), Pages.CONFIGURATION);
        Files.writeString(web.resolve("overview.ftl"), FAULT.equals("tags-in-loop") ? Pages.OVERVIEW_OF_TAGS : Pages.OVERVIEW);
    }
}
