package theatre;

import java.util.concurrent.CompletionStage;
import play.mvc.Http;
import play.mvc.Result;
import play.routing.RequestFunctions;

/** A route with a number in its path. */
final class ById implements RequestFunctions.Params1<Integer, CompletionStage<Result>> {
    /** What the route does with the number. */
    interface Action {
        CompletionStage<Result> answer(int id);
    }

    private final Action action;

    ById(Action action) {
        this.action = action;
    }

    @Override
    public CompletionStage<Result> apply(Http.Request request, Integer id) {
        return action.answer(id);
    }
}
