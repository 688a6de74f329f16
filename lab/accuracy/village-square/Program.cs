using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace VillageSquare
{
    // A corner of the square: who listens is told what is said next.
    public sealed class Corner
    {
        TaskCompletionSource<string> next = New();

        public int Said;

        public async Task<string> Listen(TimeSpan atMost, CancellationToken gone)
        {
            using var over = CancellationTokenSource.CreateLinkedTokenSource(gone);
            Task<string> said = Volatile.Read(ref next).Task;
            Task first = await Task.WhenAny(said, Task.Delay(atMost, over.Token));
            over.Cancel();
            return first == said ? await said : null;
        }

        public void Say(string words)
        {
            Interlocked.Increment(ref Said);
            Interlocked.Exchange(ref next, New()).SetResult(words);
        }

        static TaskCompletionSource<string> New() => new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    public sealed class Square
    {
        public readonly Corner[] Corners = new Corner[35];

        public Square()
        {
            for (int n = 0; n < Corners.Length; n++)
                Corners[n] = new Corner();
        }
    }

    [ApiController]
    [Route("square")]
    public sealed class SquareController : ControllerBase
    {
        readonly Square square;

        public SquareController(Square square) => this.square = square;

        [HttpGet("listen/{corner:int}")]
        public async Task<IActionResult> Listen(int corner)
        {
            string words = await square.Corners[corner].Listen(TimeSpan.FromSeconds(25), HttpContext.RequestAborted);
            return words == null ? (IActionResult)NoContent() : Content(words);
        }

        [HttpPost("say/{corner:int}")]
        public string Say(int corner)
        {
            square.Corners[corner].Say("good day, corner " + corner);
            return "said";
        }

        [HttpGet("corners")]
        public string Corners()
        {
            int said = 0;
            foreach (Corner corner in square.Corners)
                said += corner.Said;
            return square.Corners.Length + " corners, " + said + " said";
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services => services.AddSingleton<Square>().AddControllers())
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
