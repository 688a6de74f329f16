package seeds;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Gardeners wait up to five seconds for news of a lot, without a thread. */
public class NewsServlet extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        AsyncContext waiting = request.startAsync();
        waiting.setTimeout(20_000);
        CompletableFuture.delayedExecutor(5, TimeUnit.SECONDS).execute(() -> {
            response.setStatus(HttpServletResponse.SC_NO_CONTENT);
            waiting.complete();
        });
    }
}
