using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;

namespace DiagnosticScenarios.Controllers
{
    [ApiController]
    [Route("api/[controller]")]
    public class DiagScenarioController : ControllerBase
    {
        // Sync over async: the thread waits for the query, and no other request has it meanwhile.
        [HttpGet("taskwait")]
        public ActionResult<string> TaskWait()
        {
            var customer = Database.FindCustomerAsync("Dana").Result;
            return "taskwait: " + customer;
        }

        // Worse: the runtime does not even see that this thread waits for a task.
        [HttpGet("tasksleepwait")]
        public ActionResult<string> TaskSleepWait()
        {
            var query = Database.FindCustomerAsync("Dana");
            while (!query.IsCompleted)
                Thread.Sleep(10);
            return "tasksleepwait: " + query.Result;
        }

        // As it should be: the thread serves others until the query is answered.
        [HttpGet("taskasyncwait")]
        public async Task<ActionResult<string>> TaskAsyncWait()
        {
            var customer = await Database.FindCustomerAsync("Dana");
            return "taskasyncwait: " + customer;
        }

        // Nothing but computation.
        [HttpGet("cpu")]
        public ActionResult<string> Cpu(int rounds = 200)
        {
            return "cpu: " + Work.Hash(rounds);
        }

        // Computation, one request at a time.
        [HttpGet("lock")]
        public ActionResult<string> Lock(int rounds = 50)
        {
            return "lock: " + Ledger.Append(rounds);
        }

        // Arrays on the large object heap, in megabytes, dead when the request ends.
        [HttpGet("allocate")]
        public ActionResult<string> Allocate(int megabytes = 8)
        {
            return "allocate: " + Work.Fill(megabytes);
        }
    }
}
