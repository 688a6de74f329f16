import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** School reports on Jetty: grades of a class by subject and pupil, in rows, maps and maps of maps. */
public class Main extends AbstractHandler {
    static final class Pupil {
        final String name;
        final Map<String, List<Integer>> grades = new HashMap<>();
        volatile String last = "";

        Pupil(int n) {
            name = "pupil-" + n;
            for (String subject : SUBJECTS) {
                List<Integer> list = new ArrayList<>();
                for (int i = 0; i < 12; i++) list.add((n * 7 + i * subject.length()) % 6 + 1);
                grades.put(subject, list);
            }
        }
    }

    static final List<String> SUBJECTS = List.of("maths", "physics", "history", "art", "sports", "latin", "music", "biology");
    static final Map<Integer, List<Pupil>> school = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        for (int form = 0; form < 700; form++) {
            List<Pupil> pupils = new ArrayList<>();
            for (int i = 0; i < 30; i++) pupils.add(new Pupil(form * 30 + i));
            school.put(form, pupils);
        }
        String[] addr = System.getenv("ADDR").split(":");
        Server server = new Server(new QueuedThreadPool(60, 8));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(addr[0]);
        connector.setPort(Integer.parseInt(addr[1]));
        server.addConnector(connector);
        server.setHandler(new Main());
        server.start();
        server.join();
    }

    @Override public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response) throws IOException {
        List<Pupil> pupils = school.get(Math.floorMod(target.hashCode(), 700));
        Map<String, Map<Integer, List<String>>> report = new HashMap<>();
        for (String subject : SUBJECTS)
            for (Pupil p : pupils)
                for (int grade : p.grades.get(subject))
                    report.computeIfAbsent(subject, s -> new HashMap<>()).computeIfAbsent(grade, g -> new ArrayList<>()).add(p.name + " got " + grade);
        for (Pupil p : pupils) p.last = "seen in " + target;
        String text = report.entrySet().stream().map(e -> e.getKey() + " " + e.getValue().size()).collect(Collectors.joining("\n"));
        response.setStatus(200);
        response.setContentType("text/plain");
        response.getWriter().println(text);
        base.setHandled(true);
    }
}
