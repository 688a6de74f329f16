// Package all lists the models: a line each.
package all

import (
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/goheap"
	"github.com/unstall/unstall/model/threadpool"
	"github.com/unstall/unstall/model/younggen"
)

// Models in the order in which they are told of.
var Models = []*model.Model{
	goheap.Model,
	threadpool.Model,
	younggen.Model,
}
