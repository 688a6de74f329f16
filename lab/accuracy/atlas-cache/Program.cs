using System;
using System.Linq;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;

namespace AtlasCache
{
    // Maps of an atlas from a large cache in memory; answers are put together from strings,
    // so that it allocates a good deal, and none of it lives long.
    [Route("atlas")]
    public sealed class AtlasController : Controller
    {
        readonly IMemoryCache sheets;

        public AtlasController(IMemoryCache sheets) => this.sheets = sheets;

        [HttpGet("{sheet:int}")]
        public string Sheet(int sheet)
        {
            byte[] map = sheets.GetOrCreate(sheet % 9000, entry =>
            {
                entry.SlidingExpiration = TimeSpan.FromHours(1);
                return Surveyed(sheet % 9000);
            });
            var legend = new StringBuilder("sheet " + sheet);
            foreach (var group in map.Take(300).GroupBy(height => height / 16))
                legend.Append(", ").Append(group.Key * 16).Append(" m: ").Append(string.Join("/", group.Take(5)));
            return legend.ToString();
        }

        public static byte[] Surveyed(int sheet)
        {
            var map = new byte[20_000];
            for (int i = 0; i < map.Length; i++)
                map[i] = (byte)(sheet * 31 + i * 7 % 251);
            return map;
        }
    }

    public static class Program
    {
        public static void Main()
        {
            IWebHost host = new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services => services.AddMemoryCache().AddControllers())
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers()))
                .Build();
            var sheets = host.Services.GetRequiredService<IMemoryCache>();
            for (int sheet = 0; sheet < 9000; sheet++)
                sheets.Set(sheet, AtlasController.Surveyed(sheet), TimeSpan.FromHours(1));
            host.Run();
        }
    }
}
