package operations;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** Answers with the tree, or with a part of it. */
final class TreeServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final int NODE = 96; // bytes of one, at most

    private final transient Database database;
    private final transient Spans spans;
    private final transient Journal journal;
    private final transient Cache cache;
    private final transient byte[][] commands;
    private final transient ThreadLocal<Query> query;
    private final transient ThreadLocal<byte[]> buffer;
    private final int rows;
    private final int nodes;

    TreeServlet(Options options, Database database, Spans spans) {
        this.database = database;
        this.spans = spans;
        this.rows = options.rows;
        this.nodes = options.nodes;
        commands = new byte[options.queries / options.parts][];
        for (int i = 0; i < commands.length; i++) {
            commands[i] = Database.command("node:" + i);
        }
        int all = commands.length * nodes;
        journal = new Journal(options, all);
        query = ThreadLocal.withInitial(() -> new Query(options.reuse));
        buffer = ThreadLocal.withInitial(() -> new byte[all * NODE + 16]);
        cache = new Cache(options.cache);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Spans.Trace trace = spans.begin();
        try {
            response.setContentType("application/json");
            if (cache.on()) {
                byte[] answer = cache.get(() -> {
                    byte[] to = buffer.get();
                    return java.util.Arrays.copyOf(to, make(to, trace));
                });
                send(response, answer, answer.length);
            } else {
                byte[] to = buffer.get();
                send(response, to, make(to, trace));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        }
        if (trace != null) {
            trace.end(request.getServletPath());
        }
    }

    private static void send(HttpServletResponse response, byte[] answer, int length) throws IOException {
        response.setContentLength(length);
        response.getOutputStream().write(answer, 0, length);
    }

    private int make(byte[] to, Spans.Trace trace) throws IOException, InterruptedException {
        Tree tree = journal.tree();
        Query query = this.query.get();
        for (byte[] command : commands) {
            query.into(tree, ask(command, trace), rows, nodes);
        }
        int length = tree.json(to);
        journal.keep(tree);
        return length;
    }

    private long ask(byte[] command, Spans.Trace trace) throws IOException, InterruptedException {
        Database.Connection c = database.take();
        long from = trace == null ? 0 : Spans.now();
        try {
            long answer = c.get(command);
            if (trace != null) {
                trace.query(from, Spans.now());
            }
            database.give(c);
            return answer;
        } catch (IOException e) {
            database.drop(c);
            throw e;
        }
    }
}
