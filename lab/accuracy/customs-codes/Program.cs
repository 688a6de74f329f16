using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace CustomsCodes
{
    // Duties of goods by their customs codes.
    [ApiController]
    [Route("duty")]
    public sealed class DutyController : ControllerBase
    {
        readonly CatalogueCache cache;

        public DutyController(CatalogueCache cache) => this.cache = cache;

        [HttpGet("{code:int}")]
        public ActionResult<Duty> Get(int code)
        {
            Duty duty = cache.Current.Find(code);
            return duty == null ? (ActionResult<Duty>)NotFound() : duty;
        }
    }

    public static class Program
    {
        public static Task Main(string[] args)
        {
            ThreadPool.SetMinThreads(100, 100);
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .ConfigureServices(services =>
                    {
                        services.AddSingleton(new Office(Environment.GetEnvironmentVariable("ADDR_OFFICE")));
                        services.AddSingleton<CatalogueCache>();
                        services.AddControllers();
                    })
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
                .Build()
                .RunAsync();
        }
    }
}
