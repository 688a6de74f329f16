using System;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LetterSorting
{
    [ApiController]
    [Route("letter")]
    public sealed class LetterController : ControllerBase
    {
        readonly SortingHall hall;

        public LetterController(SortingHall hall) => this.hall = hall;

        [HttpPost("{number:int}")]
        public string Post(int number) => "letter " + number + ": " + hall.Bring("street " + number % 977);
    }

    public static class Program
    {
        public static void Main(string[] args)
        {
            ThreadPool.SetMinThreads(80, 8);
            int sorters = Environment.GetEnvironmentVariable("FAULT") == "0" ? 12 : 2;
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .ConfigureServices(services =>
                    {
                        services.AddSingleton(new SortingHall(Environment.GetEnvironmentVariable("ADDR_MACHINE"), sorters));
                        services.AddControllers();
                    })
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
                .Build()
                .Run();
        }
    }
}
