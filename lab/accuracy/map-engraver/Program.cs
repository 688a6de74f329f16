using System;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace MapEngraver
{
    // Sheets are engraved by three presses; a press takes 200 ms for a sheet, as it always did.
    public interface IPresses
    {
        Task<string> Engrave(string sheet, CancellationToken stop);
    }

    public class Presses : IPresses
    {
        static readonly int count = Environment.GetEnvironmentVariable("FAULT") == "0" ? 300 : 3;
        readonly SemaphoreSlim free = new SemaphoreSlim(count, count);
        readonly HttpClient press = new HttpClient { BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_PRESS")), Timeout = TimeSpan.FromSeconds(20) };

        public async Task<string> Engrave(string sheet, CancellationToken stop)
        {
            await free.WaitAsync(stop);
            try { return await press.GetStringAsync("/plate/" + sheet); }
            finally { free.Release(); }
        }
    }

    [ApiController, Route("sheets")]
    public class SheetsController : ControllerBase
    {
        readonly IPresses presses;
        public SheetsController(IPresses presses) => this.presses = presses;

        [HttpGet("{sheet}")]
        public async Task<IActionResult> Get(string sheet) => Content(await presses.Engrave(sheet, HttpContext.RequestAborted), "application/json");
    }

    public class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddControllers();
            services.AddSingleton<IPresses, Presses>();
        }

        public void Configure(IApplicationBuilder app) => app.UseRouting().UseEndpoints(e => e.MapControllers());
    }

    public class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.SetMinimumLevel(LogLevel.Error))
            .ConfigureWebHostDefaults(w => w.UseStartup<Startup>().UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")))
            .Build().Run();
    }
}
