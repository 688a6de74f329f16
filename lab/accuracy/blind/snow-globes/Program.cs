using System;
using System.Linq;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace SnowGlobes
{
    // Offers for snow globes from three wholesalers, each of whom takes 60 ms. The catalogue is an old
    // library without await: it starts three tasks and waits for them where it stands.
    public static class Catalogue
    {
        static readonly HttpClient wholesale = new HttpClient { BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_WHOLESALE")) };
        static readonly string[] wholesalers = { "vienna", "nuremberg", "oslo" };

        public static string Cheapest(string globe)
        {
            Task<string>[] offers = wholesalers.Select(w => Task.Run(() => wholesale.GetStringAsync("/" + w + "/" + globe).Result)).ToArray();
            Task.WaitAll(offers);
            return offers.Select(o => o.Result).OrderBy(text => text).First();
        }

        public static async Task<string> CheapestAsync(string globe)
        {
            string[] offers = await Task.WhenAll(wholesalers.Select(w => wholesale.GetStringAsync("/" + w + "/" + globe)));
            return offers.OrderBy(text => text).First();
        }
    }

    [Route("globes")]
    public class GlobesController : Controller
    {
        static readonly bool modern = Environment.GetEnvironmentVariable("FAULT") == "0";

        [HttpGet("{name}")]
        public Task<string> Offer(string name) => modern ? Catalogue.CheapestAsync(name) : Task.FromResult(Catalogue.Cheapest(name));

        [HttpGet("open")]
        public string Open() => "until six\n";
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureWebHostDefaults(w => w
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(s => s.AddControllers())
                .Configure(app => app.UseRouting().UseEndpoints(e => e.MapControllers())))
            .Build().Run();
    }
}
