using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Hosting;

namespace Shop
{
    public sealed class Product
    {
        public string Name { get; set; }
        public int Cents { get; set; }

        // The price of the hour depends on a hash that is drawn out on purpose.
        public static Product Of(int id, int rounds)
        {
            using var sha = SHA256.Create();
            var hash = Encoding.UTF8.GetBytes("product " + id + " at " + DateTime.UtcNow.Hour);
            for (var i = 0; i < rounds; i++)
                hash = sha.ComputeHash(hash);
            return new Product { Name = "Product " + id, Cents = 100 + hash[0] * 256 + hash[1] };
        }
    }

    // The page of the whole catalogue, which may be two seconds old.
    public sealed class Catalogue
    {
        private static readonly TimeSpan Age = TimeSpan.FromSeconds(2);
        private readonly IMemoryCache cache;
        private byte[] kept;

        public Catalogue(IMemoryCache cache)
        {
            this.cache = cache;
            kept = Make();
        }

        public byte[] Page()
        {
            if (!Program.Has("cache-stampede"))
                return Volatile.Read(ref kept);
            return cache.GetOrCreate("catalogue", entry =>
            {
                entry.AbsoluteExpirationRelativeToNow = Age;
                return Make();
            });
        }

        public void Renew() => Volatile.Write(ref kept, Make());

        private static byte[] Make() => JsonSerializer.SerializeToUtf8Bytes(Enumerable.Range(0, 1200).Select(id => Product.Of(id, 80)).ToList());
    }

    // Makes the page anew before it is too old.
    public sealed class CatalogueKeeper : BackgroundService
    {
        private readonly Catalogue catalogue;

        public CatalogueKeeper(Catalogue catalogue) => this.catalogue = catalogue;

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            while (!Program.Has("cache-stampede") && !stop.IsCancellationRequested)
            {
                await Task.Delay(TimeSpan.FromSeconds(2), stop);
                catalogue.Renew();
            }
        }
    }
}
